import { ApiProperty } from '@nestjs/swagger';
import { liveControls, type LiveControl } from '@stream-events/contracts';
import { IsIn, IsUUID } from 'class-validator';
import { MayBeAbsent } from '../../http/json-body.decorator.js';

const names = Object.keys(liveControls);

const described = {
  enum: names,
  description: Object.entries(liveControls)
    .map(([name, text]) => `\`${name}\`: ${text}`)
    .join('; '),
  example: 'skip',
};

/** Body of `POST /api/v1/live-connections/<name>/controls`. */
export class LiveControlBody {
  @ApiProperty(described)
  @IsIn(names, { message: `must be one of ${names.join(', ')}` })
  control!: LiveControl;

  @ApiProperty({
    format: 'uuid',
    required: false,
    description:
      'Id of the user whose connections receive the control. Default: your own id. Only owners can name another user',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  @MayBeAbsent()
  @IsUUID('all', { message: 'must be a UUID' })
  user?: string;
}

export class LiveControlRecord {
  @ApiProperty({ description: 'The name of the connections', example: 'alerts-overlay' })
  connection!: string;

  @ApiProperty(described)
  control!: LiveControl;

  @ApiProperty({
    type: 'integer',
    description: 'The number of connections to which the control was sent',
    example: 1,
  })
  connections!: number;
}
