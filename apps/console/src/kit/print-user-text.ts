export { printUserText } from '@stream-events/sentences';
