"""From a survey to its plan: noise divided, promise stated and checked."""
