import '@stream-events/contracts'; // refused: the client imports a lib
