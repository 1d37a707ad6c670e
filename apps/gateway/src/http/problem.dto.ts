import { ApiProperty } from '@nestjs/swagger';

/** The body of every error response: RFC 9457, `application/problem+json`. */
export class Problem {
  @ApiProperty({
    description:
      'The type of the problem. Always `about:blank`, so the title and the status name the problem',
    example: 'about:blank',
  })
  type!: string;

  @ApiProperty({ description: 'The name of the HTTP status', example: 'Bad Request' })
  title!: string;

  @ApiProperty({ description: 'The HTTP status code', example: 400 })
  status!: number;

  @ApiProperty({
    description: 'What is wrong with this request, and what to do',
    example: 'event_type: must be text of 1 to 255 characters',
  })
  detail!: string;

  @ApiProperty({
    description: 'All validation errors, by field or parameter',
    required: false,
    type: Object,
    additionalProperties: { type: 'array', items: { type: 'string' } },
    example: { event_type: ['must be text of 1 to 255 characters'] },
  })
  errors?: Record<string, string[]>;
}
