"""What each keyword of JSON Schema demands, and what its opposite does: one `Aspect` for keywords that work together."""
