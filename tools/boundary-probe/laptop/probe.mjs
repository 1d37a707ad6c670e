import '@stream-events/service'; // refused: the embedded servers import a lib above contracts
import '@stream-events/gateway'; // refused: the embedded servers import an app
