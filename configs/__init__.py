"""The catalogue of paytables and a sample property, as package data."""
