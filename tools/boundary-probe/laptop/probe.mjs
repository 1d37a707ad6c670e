import '@stream-events/contracts'; // refused: the embedded servers import a lib
import '@stream-events/gateway'; // refused: the embedded servers import an app
