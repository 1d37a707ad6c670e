import '@stream-events/gateway'; // refused: the test kit imports an app
import '@stream-events/messaging'; // refused: the test kit imports a connection
import '@stream-events/embedded';
import '@stream-events/service';
