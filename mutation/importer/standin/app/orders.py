"""Nightly import of the orders that the shop left in /app/data."""
