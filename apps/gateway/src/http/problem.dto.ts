import { ApiProperty } from '@nestjs/swagger';

/** An error as API clients see it: RFC 9457, `application/problem+json`. */
export class Problem {
  @ApiProperty({ description: 'Kind of problem; about:blank: the title says it all', example: 'about:blank' })
  type!: string;

  @ApiProperty({ description: 'What the status means', example: 'Bad Request' })
  title!: string;

  @ApiProperty({ description: 'The HTTP status', example: 400 })
  status!: number;

  @ApiProperty({
    description: 'What was wrong with this request and what to do',
    example: 'Invalid: event_type.',
  })
  detail!: string;

  @ApiProperty({
    description: 'For validation errors: all faults, by field or parameter',
    required: false,
    type: Object,
    additionalProperties: { type: 'array', items: { type: 'string' } },
    example: { event_type: ['must be text of 1 to 255 characters'] },
  })
  errors?: Record<string, string[]>;
}
