import '@stream-events/client'; // refused: a lib of pages imports the client
