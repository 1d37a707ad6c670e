import type { CommandInput } from './command.js';
import { CommandError } from './control-client.js';
import { readNumber } from './option-values.js';

/**
 * Converts the arguments of `fault` to the field `faults` of `PATCH /simulator`.
 *
 * @throws CommandError if an argument is missing or invalid
 */
export function readFaults([what, mode]: string[], options: CommandInput['options']): object {
  switch (what) {
    case 'none':
      return { api: { mode: 'ok' }, notifications: {}, oauth: {} };
    case 'api':
      if (mode === undefined) {
        throw new CommandError('fault api requires a mode: ok, down, slow, garbage, error, or rate_limited');
      }
      return { api: { mode, delay_ms: readNumber(options, 'delay'), for_ms: readNumber(options, 'for') } };
    case 'notifications':
      return {
        notifications: {
          lose: readNumber(options, 'lose'),
          duplicate: readNumber(options, 'duplicate'),
          reorder: readNumber(options, 'reorder'),
          delay_ms: readNumber(options, 'delay'),
          bad_signature: readNumber(options, 'bad-signature'),
        },
      };
    case 'oauth':
      return {
        oauth: {
          refresh_fails: readNumber(options, 'refresh-fails'),
          refresh_replies_lost: readNumber(options, 'refresh-replies-lost'),
          validate_fails: readNumber(options, 'validate-fails'),
          device_polls_invalid: readNumber(options, 'device-polls-invalid'),
          delay_ms: readNumber(options, 'delay'),
        },
      };
    default:
      throw new CommandError('fault requires one of: api, notifications, oauth, none');
  }
}
