"""Memory estimated from recorded states and inputs."""
