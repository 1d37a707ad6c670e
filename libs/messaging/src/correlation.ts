/** NATS header with the id of the HTTP request that caused the message. Services include the id when they log a failure. */
export const correlationHeader = 'Correlation-Id';
