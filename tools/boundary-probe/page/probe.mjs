import '@stream-events/client';
import '@stream-events/contracts'; // refused: a page imports what is not public
import '@stream-events/gateway'; // refused: a page imports an app
