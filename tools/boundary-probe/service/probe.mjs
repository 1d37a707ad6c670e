import '@stream-events/embedded'; // refused: a lib imports the embedded servers
import '@stream-events/database'; // refused: the service shell imports a connection
import '@stream-events/contracts';
