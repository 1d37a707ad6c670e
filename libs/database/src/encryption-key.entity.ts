import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { LeaseColumns } from './lease.js';

/** SQL that creates the table of `EncryptionKey`, for the migrations of services that store encrypted values. */
export const createEncryptionKeys = `CREATE TABLE encryption_keys (
  number bigint GENERATED ALWAYS AS IDENTITY,
  id text NOT NULL,
  leased_by uuid,
  leased_until timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT encryption_keys_pkey PRIMARY KEY (number),
  CONSTRAINT encryption_keys_id_key UNIQUE (id)
)`;

/** The lease of the instance that re-encrypts values, in the columns of the key's row. Lasts 20 s from each renewal. */
export const encryptionLease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 20);

/**
 * A key that has been the first one in some instance's `SECRET_KEY`. Values move to the key with the highest number. Without this record,
 * an instance that still has the old order would move values back during a rotation.
 */
@Entity({ name: 'encryption_keys' })
export class EncryptionKey {
  /** The order in which the keys first became the first key. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  number!: string;

  /** `SecretBox.firstKeyId`, from which the key cannot be derived. */
  @Column('text', { unique: true })
  id!: string;

  /** The instance that is re-encrypting values, or did so last. */
  @Column('uuid', { name: 'leased_by', nullable: true })
  leasedBy!: string | null;

  @Column('timestamptz', { name: 'leased_until', default: () => 'now()' })
  leasedUntil!: Date;
}
