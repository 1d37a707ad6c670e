export * from './connection.js';
export * from './correlation.js';
export * from './error-responder.filter.js';
export * from './handles.js';
export * from './nats-server.strategy.js';
export * from './parse-message.js';
export * from './request-client.js';
export * from './stream-not-found.js';
