"""A question about a network → its analysis → solvers in order → an answer."""
