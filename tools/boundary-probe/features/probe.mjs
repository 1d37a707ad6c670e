import '@stream-events/ingest'; // refused: a feature imports another feature
import '@stream-events/messaging';
