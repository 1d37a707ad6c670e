import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiProperty, ApiQuery } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { MayBeAbsent } from '../http/json-body.decorator.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';

/** A parameter of a query. */
export interface TextParameter {
  name: string;
  description: string;
  example: string;
}

/** The filters of the event list. */
export const filterParameters: readonly TextParameter[] = [
  { name: 'event_type', description: 'Event type, exactly', example: 'channel-raid' },
  { name: 'user_id', description: 'Id of the acting user', example: '12826' },
  { name: 'user_name', description: 'Name of the acting user, in any case', example: 'some_viewer' },
  {
    name: 'reward_id',
    description: 'Id of the reward that was redeemed',
    example: '92af127c-7326-4483-a52b-b0da0be61c01',
  },
  {
    name: 'raid_from',
    description: 'Name of the raiding channel, in any case; raids only',
    example: 'raider',
  },
  {
    name: 'raid_to',
    description: 'Name of the raided channel, in any case; raids only',
    example: 'mira_plays',
  },
  {
    name: 'broadcaster_user_id',
    description: 'Id of the channel, exactly; not of a raid, which names two',
    example: '47019283',
  },
  { name: 'origin', description: 'platform or test; of live events also replay', example: 'platform' },
  { name: 'event_source', description: 'Event source, exactly', example: 'PlatformSub' },
  {
    name: 'event_id',
    description: 'The platform’s message id, or the event_id of a test event',
    example: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
  },
  { name: 'since', description: 'Created at or after this ISO 8601 time', example: '2026-11-21T00:00:00Z' },
  { name: 'until', description: 'Created before this ISO 8601 time', example: '2026-11-22T00:00:00Z' },
];

/** Describes the query of the event list. */
export function EventFilterParameters(): MethodDecorator {
  return applyDecorators(...filterParameters.map(DescribesText), PageParameters('Events'));
}

/** Describes a parameter of the query that is text and may be left out. */
export function DescribesText(parameter: TextParameter): MethodDecorator {
  return ApiQuery({ ...parameter, required: false, type: String });
}

/** A filter of the event list as a field of a body, described like the parameter of its name; empty is no filter. */
export function EventFilterField(): PropertyDecorator {
  return (target, property) => {
    const parameter = filterParameters.find(({ name }) => name === property);
    if (!parameter) throw new Error(`the event list has no filter ${String(property)}`);
    const { description, example } = parameter;
    ApiProperty({ type: String, description, example, required: false, maxLength: 255 })(target, property);
    MayBeAbsent()(target, property);
    IsText(0, 255)(target, property);
  };
}

/** Describes the path of one event. */
export function DescribesEventId(): MethodDecorator {
  return ApiParam({
    name: 'id',
    description: 'The id of an event, or its event_id; that of a test event is the only one it has',
    schema: { type: 'string', example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11' },
  });
}
