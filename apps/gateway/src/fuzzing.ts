// Only for the fuzzing in apps/system-tests, which calls these parsers and classes directly.
export { ApiEndpointBody, ApiEndpointChangesBody } from './api-endpoints/api-endpoints.dto.js';
export { ErasureBody } from './erasures/erasures.dto.js';
export { parseEventListQuery } from './events/event-list.query.js';
export { CreateEventBody } from './events/events.dto.js';
export { readForm } from './http/form-body.decorator.js';
export { parseBody } from './http/json-body.decorator.js';
export { JsonText } from './http/json-text.dto.js';
export { compileFilter, describeFilter } from './live/connections/live-filter.js';
export { parsePosition, printPosition } from './live/stream/position.js';
export { parseLiveFields, readLiveMessage, readLiveQuery } from './live/transports/live-request.js';
export { parseCursor, printCursor } from './paging/cursor.js';
export { EventTypeStateBody } from './platform/event-types.dto.js';
export { ReplayBody } from './replays/replays.dto.js';
export { ScopeBody, ScopeChangesBody } from './scopes/scopes.dto.js';
export { StreamerBody, StreamerChangesBody } from './streamers/streamers.dto.js';
export { TokenBody, TokenChangesBody } from './tokens/tokens.dto.js';
export {
  LoginBody,
  PasswordBody,
  ProfileBody,
  RegistrationBody,
  RotationBody,
  UserStateBody,
} from './users/users.dto.js';
export { WebhookService } from './webhook/webhook.service.js';
