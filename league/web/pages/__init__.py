"""The front page, the documents, the queue."""
