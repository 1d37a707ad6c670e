export type { components, paths } from './api.js';
export { createClient, type Client, type ClientOptions, type LiveOptions } from './client.js';
export { LiveError, type LiveErrorFacts, type Problem } from './live-error.js';
export type { EventRecord, LiveEvent, LiveFilters } from './live-event.js';
export type { Gap, LiveCallbacks, LiveControl, LiveEvents, Retry } from './live-events.js';
export type { WebSocketLike } from './web-socket-stream.js';
