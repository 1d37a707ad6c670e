import { ApiProperty } from '@nestjs/swagger';
import { alarmKinds, type AlarmKind, type AlarmMessage } from '@stream-events/contracts';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

const kinds = Object.entries(alarmKinds)
  .map(([kind, meaning]) => `- \`${kind}\`: ${meaning}`)
  .join('\n');

export class AlarmRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'The id of the alarm. If the service raises the alarm again, the alarm gets a new id',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    description: 'The kind and the subject. Only one alarm per key can be open',
    example: 'channel_silent:47019283',
  })
  key!: string;

  @ApiProperty({
    enum: Object.keys(alarmKinds),
    description: `What the alarm is about:\n\n${kinds}`,
    example: 'channel_silent',
  })
  kind!: AlarmKind;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The id of the affected channel, transport, shard, machine, or token. Null for a kind that has only one possible subject',
    example: '47019283',
  })
  subject!: string | null;

  @ApiProperty({
    description: 'A human-readable description of the problem',
    example: 'The live channel mira_plays has sent no event for 10 minutes, after 2040 events in an hour.',
  })
  message!: string;

  @ApiProperty({ description: 'When the alarm was raised, UTC, to the second', example: exampleTime })
  raised!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the alarm was cleared, UTC, to the second. Null while the alarm is open',
    example: null,
  })
  cleared!: string | null;
}

export function toAlarmRecord({
  id,
  key,
  kind,
  subject,
  message,
  raisedAt,
  clearedAt,
}: AlarmMessage): AlarmRecord {
  return {
    id,
    key,
    kind,
    subject,
    message,
    raised: printTime(raisedAt),
    cleared: printTimeOrNull(clearedAt),
  };
}
