import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whether the service subscribes to this version of an event type. At most one version per type is active. */
@Entity({ name: 'event_types' })
export class EventTypeChoice {
  /** The platform's name of the type, such as `stream.online`. */
  @PrimaryColumn('text')
  type!: string;

  @PrimaryColumn('text')
  version!: string;

  @Column('boolean')
  active!: boolean;
}
