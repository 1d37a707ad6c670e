import '@stream-events/events'; // refused: an app imports an app
import '@stream-events/all-in-one'; // refused: an app imports all-in-one
import '@stream-events/embedded'; // refused: an app imports the embedded servers
import '@stream-events/client'; // refused: an app imports the client
import '../../../libs/contracts/src/index.js'; // refused: a relative import across projects
import '@stream-events/contracts';
import '@stream-events/messaging';
