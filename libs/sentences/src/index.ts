export {
  actorOf,
  channelOf,
  describeEvent,
  findChannelKeys,
  printWords,
  type Actor,
  type DescribedEvent,
  type Part,
} from './describe-event.js';
export { parseTime } from './parse-time.js';
export { printUserText } from './print-user-text.js';
