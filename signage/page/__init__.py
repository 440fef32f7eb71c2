"""The pages that signs show, as package data."""
