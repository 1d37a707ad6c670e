import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The key for hashing the ids of erased users, in the only row. Only its encryption changes with `SECRET_KEY`. */
@Entity({ name: 'user_hash_keys' })
export class UserHashKeyRow {
  @PrimaryColumn('uuid')
  id!: string;

  /** The key in base64, encrypted with `SECRET_KEY` and bound to `id`. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}
