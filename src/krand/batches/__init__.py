"""Files of messages and responses, and the manifests that vouch for them."""
