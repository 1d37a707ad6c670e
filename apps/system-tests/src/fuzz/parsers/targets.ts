import { bodyTarget } from './bodies.js';
import { firstMessageTarget, positionTarget } from './live.js';
import { cursorTarget, filterTarget } from './lists.js';
import { ingestTarget, requestTarget } from './payloads.js';
import type { ParserTarget } from './parser-target.js';
import { webhookTarget } from './webhook.js';

/** All parsers of external input. */
export const parserTargets: readonly ParserTarget[] = [
  webhookTarget(),
  cursorTarget,
  filterTarget,
  bodyTarget,
  firstMessageTarget,
  positionTarget,
  requestTarget,
  ingestTarget,
];
