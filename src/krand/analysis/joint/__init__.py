"""How answers relate: joint and conditional tables, independence."""
