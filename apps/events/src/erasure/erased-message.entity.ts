import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A message that an erasure has removed from the EVENTS stream. A client that resumes at this sequence is not told about a gap. */
@Entity({ name: 'erased_messages' })
export class ErasedMessage {
  @PrimaryColumn('text')
  epoch!: string;

  @PrimaryColumn('bigint')
  sequence!: string;

  @Column('timestamptz', { name: 'erased_at', default: () => 'now()' })
  erasedAt!: Date;
}
