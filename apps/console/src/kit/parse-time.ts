export { parseTime } from '@stream-events/sentences';
