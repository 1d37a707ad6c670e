/** The NATS header that carries the id of the HTTP request behind a message into the logs of every service. */
export const correlationHeader = 'Correlation-Id';
