import '@stream-events/gateway'; // refused: the test kit imports an app
import '@stream-events/embedded';
