import '@stream-events/gateway'; // refused: a lib imports an app
import '@stream-events/service'; // refused: contracts import the service shell
import '@stream-events/messaging'; // refused: contracts import a connection
