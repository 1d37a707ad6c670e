import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiProperty, ApiQuery } from '@nestjs/swagger';
import {
  eventFilters,
  filterListFault,
  IsText,
  splitFilterList,
  type TextFilter,
  type TextFilterName,
} from '@stream-events/contracts';
import { ValidateBy } from 'class-validator';
import { MayBeAbsent } from '../http/json-body.decorator.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';

export interface TextParameter {
  name: string;
  description: string;
  example: string;
}

/** The event list's filters, for the API description. */
export const filterParameters: readonly TextParameter[] = Object.entries(eventFilters).map(
  ([name, { description, example }]) => ({ name, description, example }),
);

/** Documents the query parameters of the event list. */
export function EventFilterParameters(): MethodDecorator {
  return applyDecorators(...filterParameters.map(DescribesText), PageParameters('Events'));
}

/** Documents an optional text parameter of a query. */
export function DescribesText(parameter: TextParameter): MethodDecorator {
  return ApiQuery({ ...parameter, required: false, type: String });
}

/** Adds an event list filter as a body field. An empty value leaves the filter unset. */
export function EventFilterField(name: TextFilterName): PropertyDecorator {
  const { description, example, maxValues }: TextFilter = eventFilters[name];
  // Room for `maxValues` values of 255 characters each, and the commas between the values.
  const maxLength = (maxValues ?? 1) * 256 - 1;
  return applyDecorators(
    ApiProperty({ type: String, description, example, required: false, maxLength }),
    MayBeAbsent(),
    IsText(0, maxLength),
    ...(maxValues === undefined ? [] : [HasFewValues(maxValues)]),
  );
}

/** Limits the values in a comma-separated list. Ignores values that are not text, because `IsText` reports them. */
function HasFewValues(maxValues: number): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value !== 'string' || splitFilterList(value).length <= maxValues;
  return ValidateBy({
    name: 'hasFewValues',
    validator: { validate, defaultMessage: () => filterListFault(maxValues) },
  });
}

/** Documents the `id` in the path of an event. */
export function DescribesEventId(): MethodDecorator {
  return ApiParam({
    name: 'id',
    description: 'The `id` or the `event_id` of an event. A test event has only an `event_id`',
    schema: { type: 'string', example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11' },
  });
}
