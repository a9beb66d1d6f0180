"""The transaction log: storage, actions, snapshots, checkpoints and clean-up; nothing here knows of data or of Spark jobs."""
