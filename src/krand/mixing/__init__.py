"""A mixer: opens its layer of a batch, adds dummies, shuffles every lane, signs, passes it on."""
