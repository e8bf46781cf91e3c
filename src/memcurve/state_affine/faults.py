"""What is wrong with state-affine networks and questions about them: ``faults.toml``, by kind."""

from memcurve.core.notes import Sentences, texts_beside

fault = Sentences(texts_beside(__file__))
