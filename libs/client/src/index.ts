export type { components, paths } from './api.js';
export { createClient, type Client, type ClientOptions, type LiveOptions } from './client.js';
export { closeCodes } from './close-codes.js';
export { LiveError, type LiveErrorFacts, type Problem } from './live-error.js';
export type { EventData } from './event-data.js';
export {
  isEventOf,
  type EventOf,
  type EventRecord,
  type LiveEvent,
  type LiveFilters,
  type OtherEvent,
  type PlatformEventType,
} from './live-event.js';
export type { Gap, LiveCallbacks, LiveControl, LiveEvents, Retry } from './live-events.js';
export type { WebSocketLike } from './web-socket-stream.js';
