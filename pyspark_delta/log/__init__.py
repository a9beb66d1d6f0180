"""The transaction log: storage, actions, snapshots, checkpoints and clean-up."""
