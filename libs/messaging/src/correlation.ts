/** The NATS header with the id of the HTTP request behind a message. Every service logs failures with this id. */
export const correlationHeader = 'Correlation-Id';
