"""Simulated tables: real decks, dealt and settled as the regulation has it."""
