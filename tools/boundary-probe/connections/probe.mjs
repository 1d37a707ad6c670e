import '@stream-events/database'; // refused: a connection imports another connection
import '@stream-events/ingest'; // refused: a connection imports a feature
import '@stream-events/service';
