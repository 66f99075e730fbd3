"""One stage per platform: how people speak, press and look there; one suite judges every adapter on them."""
