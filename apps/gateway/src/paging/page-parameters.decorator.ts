import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { defaultPageSize, maxPageSize } from './page-parameters.js';

/** Documents `cursor` and `page_size` in the API description. */
export function PageParameters(items: string): MethodDecorator {
  return applyDecorators(
    ApiQuery({
      name: 'cursor',
      required: false,
      description: 'The cursor from the `next` or `previous` link of a page',
      type: String,
      example: 'AQABof0cQRV3Q4At-ib5JbxMmDUC9fyzwJk',
    }),
    ApiQuery({
      name: 'page_size',
      required: false,
      description: `Maximum number of ${items.toLowerCase()} per page`,
      schema: { type: 'integer', minimum: 1, maximum: maxPageSize, default: defaultPageSize },
    }),
  );
}
