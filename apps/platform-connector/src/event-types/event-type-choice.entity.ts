import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whether streamers are subscribed to an event type, in one of its versions. Of one type, one version is active at most. */
@Entity({ name: 'event_types' })
export class EventTypeChoice {
  /** As the platform writes it: `stream.online`. */
  @PrimaryColumn('text')
  type!: string;

  @PrimaryColumn('text')
  version!: string;

  @Column('boolean')
  active!: boolean;
}
