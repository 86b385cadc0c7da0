"""The node types that flows of Clickweave are made of."""
