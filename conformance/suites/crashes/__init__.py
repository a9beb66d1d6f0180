"""The suite of crashes: operations whose engine dies or whose storage fails, and what comes after them."""
