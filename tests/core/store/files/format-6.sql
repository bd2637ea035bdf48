-- A database as version 0.1.0 left it in format 6: a sweep, a run that has survived an out-of-memory error, a search.
PRAGMA application_id = 1114919779;
PRAGMA user_version = 6;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,       -- the kernel's id of this boot: a process from before it is gone
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL  -- clock ticks after the boot, so that a reused pid is told from the first
, checks BLOB) STRICT;
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created TEXT NOT NULL,
  spec TEXT NOT NULL
, checks BLOB) STRICT;
INSERT INTO sweep VALUES(1,'2026-11-25T13:05:00Z',replace('{\n  "batch": [\n    8,\n    16\n  ],\n  "lr": [\n    0.01,\n    0.001\n  ],\n  "version": 1,\n  "name": "",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 10000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null,\n  "repeats": 1\n}','\n',char(10)),X'5701ca4e8c4ff4d1');
CREATE TABLE search (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created TEXT NOT NULL,
  spec TEXT NOT NULL,
  result TEXT NOT NULL
, checks BLOB) STRICT;
INSERT INTO search VALUES(1,'2026-11-25T13:05:04Z',replace('{\n  "version": 1,\n  "name": "",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": "auto",\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": 1,\n  "examples": null,\n  "steps": null,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": null,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 2000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"strategy":"doubling","status":"found","largest":80,"largest_is":"exact","safe":80,"recommended":null,"automatic":null,"reason":"","probes":[{"batch":8,"outcome":"fits","peak_bytes":6656,"predicted_bytes":null,"seconds":0.014049469,"examples_per_second":569.4165380912261},{"batch":16,"outcome":"fits","peak_bytes":8768,"predicted_bytes":null,"seconds":0.011796805,"examples_per_second":1356.2994387039541},{"batch":32,"outcome":"fits","peak_bytes":13120,"predicted_bytes":null,"seconds":0.025323708,"examples_per_second":1263.6380106736344},{"batch":64,"outcome":"fits","peak_bytes":21824,"predicted_bytes":null,"seconds":0.013522346,"examples_per_second":4732.906553345108},{"batch":80,"outcome":"fits","peak_bytes":26176,"predicted_bytes":null,"seconds":0.006045967,"examples_per_second":13231.961074216912}],"checks":[],"timings":[],"memory":{"error":0.0,"columns":["batch","bytes","onto_gradients","parameters","gradients","optimizer","activations","workspace","batch"],"points":[[1,5824,6848,1280,1280,2816,64,384,0],[2,5888,6976,1280,1280,2816,128,192,192],[3,6016,7104,1280,1280,2816,128,256,256],[4,6144,7232,1280,1280,2816,128,320,320],[5,6272,7360,1280,1280,2816,128,384,384],[6,6400,7488,1280,1280,2816,128,448,448],[7,6528,7616,1280,1280,2816,128,512,512],[8,6656,7872,1280,1280,2816,128,576,576],[9,6976,8256,1280,192,2816,768,1216,704],[10,7232,8512,1280,192,2816,832,1344,768],[11,7488,8768,1280,192,2816,896,1472,832],[12,7744,9024,1280,192,2816,960,1600,896],[13,8000,9280,1280,192,2816,1024,1728,960],[14,8256,9536,1280,192,2816,1088,1856,1024],[15,8512,9792,1280,192,2816,1152,1984,1088],[16,8768,10048,1280,192,2816,1216,2112,1152],[32,13120,14400,1280,192,2816,2368,4160,2304],[64,21824,23104,1280,192,2816,4672,8256,4608],[80,26176,27456,1280,192,2816,5824,10304,5760]]},"baseline_bytes":4096,"budget_bytes":2000000,"seconds":0.183615021}',X'53c4a62a92b30a55bc95dfc9');
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE, -- the same in every database that the run is copied to
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  process INTEGER REFERENCES process (id) ON DELETE SET NULL, -- who writes it; NULL once it is finished
  sweep INTEGER REFERENCES sweep (id),
  started TEXT NOT NULL,
  spec TEXT NOT NULL,
  start TEXT NOT NULL,
  batch INTEGER,
  steps INTEGER NOT NULL,
  examples_seen INTEGER NOT NULL,
  epoch ANY,
  train_coverage ANY,
  oom_events INTEGER NOT NULL,
  loss ANY,
  validation_loss ANY,
  validation_accuracy ANY,
  peak_bytes INTEGER NOT NULL,
  seconds ANY,
  examples_per_second ANY
, note TEXT NOT NULL DEFAULT '', deleted TEXT, changed INTEGER NOT NULL DEFAULT 0, position ANY, reserved_bytes INTEGER NOT NULL DEFAULT 0, workers INTEGER NOT NULL DEFAULT 1, environment TEXT NOT NULL DEFAULT '{}', tags TEXT NOT NULL DEFAULT '[]', checks BLOB) STRICT;
INSERT INTO run VALUES(1,'73eab1cfebdfce090cf0c3138a34a6e2','batch 8, lr 0.01','finished','',NULL,1,'2026-11-25T13:05:00Z',replace('{\n  "version": 1,\n  "name": "batch 8, lr 0.01",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": 8,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": 0.01,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 10000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"batch":8,"batch_reason":"","accumulate":1,"train_examples":80,"validation_examples":20,"parameters":306,"predicts_numbers":false,"budget_bytes":10000000,"baseline_bytes":4096,"warmup_steps":0,"expected_steps":3,"learning_rate":0.01,"notes":[]}',8,3,24,0.29999999999999998889,0.29999999999999998889,0,0.57325500249862670898,0.46341158747673033557,1.0,6656,0.042186313000000003059,700.43887164901286724,'',NULL,7,NULL,0,1,'{"program":"0.1.0","libtorch":"2.15.0","device":"AMD EPYC","driver":null,"cpu":"AMD EPYC","threads":2,"seed":3,"data_checksum":null}','[]',X'b23d66ea1a808a0ac12cb711c972e9de0c2447f1e03eb20f190f764b3b7be2f9a6e227ae03f6dfb7a75e7dc34be2c44c33099b47a298f3e9c315c399dde5c4ef001f55da17524a24153b681bcd1d94b75c3b7fcb654a3d645a12d9cfc4127303b942752cb6d3b74ed624ac43cbd8069d');
INSERT INTO run VALUES(2,'9c2381b85759503b8a564467ebda8209','batch 8, lr 0.001','finished','',NULL,1,'2026-11-25T13:05:00Z',replace('{\n  "version": 1,\n  "name": "batch 8, lr 0.001",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": 8,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": 0.001,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 10000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"batch":8,"batch_reason":"","accumulate":1,"train_examples":80,"validation_examples":20,"parameters":306,"predicts_numbers":false,"budget_bytes":10000000,"baseline_bytes":4096,"warmup_steps":0,"expected_steps":3,"learning_rate":0.001,"notes":[]}',8,3,24,0.29999999999999998889,0.29999999999999998889,0,0.71103006601333618164,0.66650217771530151367,0.6500000000000000222,6656,0.040371189000000001767,682.68695915725709257,'',NULL,10,NULL,0,1,'{"program":"0.1.0","libtorch":"2.15.0","device":"AMD EPYC","driver":null,"cpu":"AMD EPYC","threads":2,"seed":3,"data_checksum":null}','[]',X'bf07d753191cb83ce985a9493bc621f7fe908fd8c897ac57e774962f42a037d6350755f92b5fc1ef8ff7639b634bda141ba0851f8a31edb1ebbcddc11419432a01c2f1defc6e05563d927643c3d59b0e45c0e01097fef54da8a611e636a6bb2a91eb6b749e7aa9167889dad4a9058077');
INSERT INTO run VALUES(3,'4dba6f1a344990b66fe828fca0ba455d','batch 16, lr 0.01','finished','',NULL,1,'2026-11-25T13:05:00Z',replace('{\n  "version": 1,\n  "name": "batch 16, lr 0.01",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": 16,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": 0.01,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 10000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"batch":16,"batch_reason":"","accumulate":1,"train_examples":80,"validation_examples":20,"parameters":306,"predicts_numbers":false,"budget_bytes":10000000,"baseline_bytes":4096,"warmup_steps":0,"expected_steps":3,"learning_rate":0.01,"notes":[]}',16,3,48,0.59999999999999997779,0.59999999999999997779,0,0.56186336278915405273,0.44910786151885984107,1.0,8768,0.043209793000000003282,1441.1588358198828245,'',NULL,13,NULL,0,1,'{"program":"0.1.0","libtorch":"2.15.0","device":"AMD EPYC","driver":null,"cpu":"AMD EPYC","threads":2,"seed":3,"data_checksum":null}','[]',X'e4d6913fc3f0b469cee08cc8aa5749596f01e776eff289d672a0e6ba881950a11bd288069210bac1a892461aa7576cbfcff3e6415e628eefccd9f8400d82734beb61de62189e71fdc2de4270ac137f07edb5a8df066f9de339377948a737d384b68e4ef5b91f8c97e2ed08a648b3d298');
INSERT INTO run VALUES(4,'16c72aa2d77747e04e1797036910c047','batch 16, lr 0.001','finished','',NULL,1,'2026-11-25T13:05:00Z',replace('{\n  "version": 1,\n  "name": "batch 16, lr 0.001",\n  "model": "mlp:hidden=16,layers=1",\n  "data": "synthetic:examples=100,shape=16,classes=2",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 3,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": 16,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "constant",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": 0.001,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 10000000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"batch":16,"batch_reason":"","accumulate":1,"train_examples":80,"validation_examples":20,"parameters":306,"predicts_numbers":false,"budget_bytes":10000000,"baseline_bytes":4096,"warmup_steps":0,"expected_steps":3,"learning_rate":0.001,"notes":[]}',16,3,48,0.59999999999999997779,0.59999999999999997779,0,0.70437830686569213867,0.66447666883468625709,0.6500000000000000222,8768,0.011464600999999999611,4526.2590921229511877,'',NULL,16,NULL,0,1,'{"program":"0.1.0","libtorch":"2.15.0","device":"AMD EPYC","driver":null,"cpu":"AMD EPYC","threads":2,"seed":3,"data_checksum":null}','[]',X'5feb92d98e4e4c67b9d794f9dfafb0a41af91e8b98c591e71b8356e61a38f64f61d13e7de527a2f0dfa55e2bd060748eb8c4fe70295596debbeee071fcf2b277b54ead15ac3c38e6b5e95a41817c0859b7dee33f7397641e4ccf80b5d2cf2a79c1b956c4ce2894a665d446212cb9fc79');
INSERT INTO run VALUES(5,'93d446876c1446e5cb557850d08e78db','','finished','',NULL,NULL,'2026-11-25T13:05:01Z',replace('{\n  "version": 1,\n  "name": "",\n  "model": "cnn:width=8",\n  "data": "synthetic:examples=625,shape=1x16x16,classes=4",\n  "augment": "none",\n  "shares": "",\n  "clock": "",\n  "group_by_length": false,\n  "init": "",\n  "save": "",\n  "task": "scratch",\n  "seed": 1,\n  "evaluate_every": null,\n  "checkpoint_every": null,\n  "checkpoint_minutes": null,\n  "batch": 200,\n  "accumulate": 1,\n  "effective_batch": null,\n  "schedule": "linear:max=400",\n  "max_batch": null,\n  "drop_last": false,\n  "margin": 0.2,\n  "noise_every": null,\n  "epochs": null,\n  "examples": null,\n  "steps": 3,\n  "max_seconds": null,\n  "target_score": null,\n  "optimizer": "adamw",\n  "lr": null,\n  "momentum": null,\n  "lr_rule": "none",\n  "lr_reference_batch": null,\n  "lr_decay": "constant",\n  "warmup": "0",\n  "clip": null,\n  "weight_decay": null,\n  "dropout": 0.0,\n  "label_smoothing": 0.0,\n  "regularization_rule": "none",\n  "batch_norm_rule": "none",\n  "ema": null,\n  "device": "cpu",\n  "memory_budget": 1500000,\n  "precision": "fp32",\n  "checkpointing": false,\n  "on_oom": "shrink",\n  "grow_back": null\n}','\n',char(10)),'{"batch":200,"batch_reason":"","accumulate":1,"train_examples":500,"validation_examples":125,"parameters":2300,"predicts_numbers":false,"budget_bytes":1500000,"baseline_bytes":28544,"warmup_steps":0,"expected_steps":3,"learning_rate":0.001,"notes":[]}',200,3,500,1.0,1.0,1,1.3319364435532514701,1.2666816406250001048,0.44000000000000000222,1401536,1.0640766129999998934,490.22269415939200599,'',NULL,20,NULL,0,1,'{"program":"0.1.0","libtorch":"2.15.0","device":"AMD EPYC","driver":null,"cpu":"AMD EPYC","threads":2,"seed":1,"data_checksum":null}','[]',X'bf1807e93339fd489eb2b1784e3ed80a8b6876251568dce9cf663d6aca5f975bb73871126b2f7fa4f8c07baa8e47ca578fb021a21e21490c028b6f3cd9bdea46a090b0b023b1e48d19ef54841a11090f1f7d430ce2060cb0dd5ee81b435e42d7e6dc7345e94db127166302becd0fae96');
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  seconds ANY,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL
, checks BLOB) STRICT;
INSERT INTO event VALUES(1,1,3,0.042186313000000003059,'evaluation','{"loss":0.46341158747673034,"accuracy":1.0}',X'f6e3eb751a75a699c2b2dbff1f2dbf2ed3c4a066');
INSERT INTO event VALUES(2,2,3,0.040371189000000001767,'evaluation','{"loss":0.6665021777153015,"accuracy":0.65}',X'3d4d7aa332dcb8c1cc7ad446e7c0e8dc77506711');
INSERT INTO event VALUES(3,3,3,0.043209793000000003282,'evaluation','{"loss":0.44910786151885984,"accuracy":1.0}',X'8428f5ee15b99d40a3bc304f7066f53bfc40c9cd');
INSERT INTO event VALUES(4,4,3,0.011464600999999999611,'evaluation','{"loss":0.6644766688346863,"accuracy":0.65}',X'ea1628d5628e85718ed34711561d36e3c4d022f2');
INSERT INTO event VALUES(5,5,1,0.44757775399999999432,'oom','{"attempted_batch":200,"nominal_batch":200,"accumulate":1,"effective_batch":200,"requested_bytes":3276800,"in_use_bytes":235520,"reserved_bytes":235520,"limit_bytes":1500000,"phase":"forward","in_use_by":{"parameters":9344,"gradients":0,"optimizer":19200,"activations":576,"workspace":0,"batch":206400},"micro_batches_before":1,"micro_batches_after":6,"micro_batch_before":200,"micro_batch_after":34,"examples_again":200,"action":"retried the same 200 examples as 6 x 34; effective batch unchanged","cause":"the first batch does not fit in memory"}',X'5373a79838ec85b267a3ed61d9de65de51210717');
INSERT INTO event VALUES(6,5,3,1.0640766129999998934,'evaluation','{"loss":1.266681640625,"accuracy":0.44}',X'7bdab9c06d42bea83d17581f39567cf68ee2cb1f');
CREATE TABLE frame (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE
) STRICT;
INSERT INTO frame VALUES(1,1);
INSERT INTO frame VALUES(2,1);
INSERT INTO frame VALUES(3,1);
INSERT INTO frame VALUES(4,1);
INSERT INTO frame VALUES(5,2);
INSERT INTO frame VALUES(6,2);
INSERT INTO frame VALUES(7,2);
INSERT INTO frame VALUES(8,2);
INSERT INTO frame VALUES(9,3);
INSERT INTO frame VALUES(10,3);
INSERT INTO frame VALUES(11,3);
INSERT INTO frame VALUES(12,3);
INSERT INTO frame VALUES(13,4);
INSERT INTO frame VALUES(14,4);
INSERT INTO frame VALUES(15,4);
INSERT INTO frame VALUES(16,4);
INSERT INTO frame VALUES(17,5);
INSERT INTO frame VALUES(18,5);
INSERT INTO frame VALUES(19,5);
INSERT INTO frame VALUES(20,5);
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of its value in a row of the tail
  n INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last ANY,
  min ANY,
  max ANY, checks BLOB,
  UNIQUE (run, name),
  UNIQUE (frame, position)
) STRICT;
INSERT INTO series VALUES(1,1,'examples_seen',1,0,3,3,24.0,8.0,24.0,X'f6e3eb75757b403c95c64bf29a578990');
INSERT INTO series VALUES(2,1,'epoch_index',1,1,3,3,0.0,0.0,0.0,X'de4af52d63f05908bd6f55aa2cfe3d04');
INSERT INTO series VALUES(3,1,'epoch',1,2,3,3,0.29999999999999998889,0.10000000000000000555,0.29999999999999998889,X'f92fd0ac9aa7deaa9a0a702be89c970b');
INSERT INTO series VALUES(4,1,'train_coverage',1,3,3,3,0.29999999999999998889,0.10000000000000000555,0.29999999999999998889,X'8e18c89d1ae09defed3d681a01ab25f6');
INSERT INTO series VALUES(5,1,'batch',1,4,3,3,8.0,8.0,8.0,X'a97ded1c27021516ca584d9b3fc7c57d');
INSERT INTO series VALUES(6,1,'micro_batch',1,5,3,3,8.0,8.0,8.0,X'81d4f344bb199ae3e2f153c3896e71e9');
INSERT INTO series VALUES(7,1,'micro_batches',1,6,3,3,1.0,1.0,1.0,X'a6b1d6c596480290c59476424d0cdbe6');
INSERT INTO series VALUES(8,1,'accumulate',1,7,3,3,1.0,1.0,1.0,X'6fbac326fd393f190c9f63a11a0764c9');
INSERT INTO series VALUES(9,1,'effective_batch',1,8,3,3,8.0,8.0,8.0,X'48dfe6a76249a1852bfa462091706191');
INSERT INTO series VALUES(10,1,'loss',1,9,3,3,0.57325500249862670898,0.57325500249862670898,0.62441068887710571289,X'6076f8ff2abe8fb20353587827d9d505');
INSERT INTO series VALUES(11,1,'learning_rate',1,10,3,3,0.010000000000000000208,0.010000000000000000208,0.010000000000000000208,X'4713dd7ed186085a24367df9e3bb7f0a');
INSERT INTO series VALUES(12,1,'grad_norm',1,11,3,3,0.98227471113204956054,0.90454941987991333007,0.98227471113204956054,X'3024c54f7552fd60530165c80a8ccdf7');
INSERT INTO series VALUES(13,1,'seconds',1,12,3,3,0.034264231999999998634,0.017214898999999998785,0.034264231999999998634,X'1741e0ce5447957b7464404934e02d7c');
INSERT INTO series VALUES(14,1,'allocated_bytes',1,13,3,3,4096.0,4096.0,4096.0,X'3fe8fe960621eca45ccd5e11824999e8');
INSERT INTO series VALUES(15,1,'reserved_bytes',1,14,3,3,7424.0,7424.0,7424.0,X'188ddb17d760e0067ba87b90462b33e7');
INSERT INTO series VALUES(16,1,'peak_bytes',1,15,3,3,6656.0,6656.0,6656.0,X'ecf9a58bc881a3698fdc050c2c5fe7b7');
INSERT INTO series VALUES(17,1,'device_bytes',1,16,3,3,'NaN','NaN','NaN',X'cb9c800a56b1fcdaa8b9208d8c195993');
INSERT INTO series VALUES(18,1,'evaluation_seconds',2,0,1,3,0.0078813019999999997522,0.0078813019999999997522,0.0078813019999999997522,X'e3359e52130278986317b15b8f81fcb7');
INSERT INTO series VALUES(19,1,'validation_loss',3,0,1,3,0.46341158747673033557,0.46341158747673033557,0.46341158747673033557,X'c450bbd30746590eda723e16a8e4d936');
INSERT INTO series VALUES(20,1,'validation_accuracy',4,0,1,3,1.0,1.0,1.0,X'b367a3e214001578b44ce32ddfd3c107');
INSERT INTO series VALUES(21,2,'examples_seen',5,0,3,3,24.0,8.0,24.0,X'770509eda194e6ed0d296c60f8b6e486');
INSERT INTO series VALUES(22,2,'epoch_index',5,1,3,3,0.0,0.0,0.0,X'5fac17b573306c37258072384e1f5012');
INSERT INTO series VALUES(23,2,'epoch',5,2,3,3,0.29999999999999998889,0.10000000000000000555,0.29999999999999998889,X'78c93234cdb1c3f302e557b98a7dfa1d');
INSERT INTO series VALUES(24,2,'train_coverage',5,3,3,3,0.29999999999999998889,0.10000000000000000555,0.29999999999999998889,X'b1c227d7394e8456cbee425add764532');
INSERT INTO series VALUES(25,2,'batch',5,4,3,3,8.0,8.0,8.0,X'96a70256061dfa6aec8b67dbe31aa5b9');
INSERT INTO series VALUES(26,2,'micro_batch',5,5,3,3,8.0,8.0,8.0,X'be0e1c0e210f2d1ec422798355b3112d');
INSERT INTO series VALUES(27,2,'micro_batches',5,6,3,3,1.0,1.0,1.0,X'996b398fe06278efe3475c0291d1bb22');
INSERT INTO series VALUES(28,2,'accumulate',5,7,3,3,1.0,1.0,1.0,X'ee5c21be5bf4f9999470443378e609df');
INSERT INTO series VALUES(29,2,'effective_batch',5,8,3,3,8.0,8.0,8.0,X'c939043f36674050b31561b2f3910c87');
INSERT INTO series VALUES(30,2,'loss',5,9,3,3,0.71103006601333618164,0.62441068887710571289,0.71103006601333618164,X'e1901a6756fea41c9bbc7fea4538b813');
INSERT INTO series VALUES(31,2,'learning_rate',5,10,3,3,0.0010000000000000000208,0.0010000000000000000208,0.0010000000000000000208,X'c6f53fe60569ae8bbcd95a6b815a121c');
INSERT INTO series VALUES(32,2,'grad_norm',5,11,3,3,1.1614868640899658203,0.90454941987991333007,1.1614868640899658203,X'487f9784e5c565073253f20991d010b2');
INSERT INTO series VALUES(33,2,'seconds',5,12,3,3,0.035155205000000001869,0.0068163599999999996068,0.035155205000000001869,X'6f1ab20579a995791536d788afbcf039');
INSERT INTO series VALUES(34,2,'allocated_bytes',5,13,3,3,4096.0,4096.0,4096.0,X'47b3ac5dabd8c0ef3d9fc9d0191544ad');
INSERT INTO series VALUES(35,2,'reserved_bytes',5,14,3,3,7424.0,7424.0,7424.0,X'60d689dcf28acd2e1afaec51dd77eea2');
INSERT INTO series VALUES(36,2,'peak_bytes',5,15,3,3,6656.0,6656.0,6656.0,X'17e191eddffcb0666dcdf46034405c5f');
INSERT INTO series VALUES(37,2,'device_bytes',5,16,3,3,'NaN','NaN','NaN',X'3084b46c5237cbf14aa8d1e19406e27b');
INSERT INTO series VALUES(38,2,'evaluation_seconds',6,0,1,3,0.0051801009999999994559,0.0051801009999999994559,0.0051801009999999994559,X'182daa342e6cab6481064037979e475f');
INSERT INTO series VALUES(39,2,'validation_loss',7,0,1,3,0.66650217771530151367,0.66650217771530151367,0.66650217771530151367,X'3f488fb5327434dc3863cf7ab0fb62de');
INSERT INTO series VALUES(40,2,'validation_accuracy',8,0,1,3,0.6500000000000000222,0.6500000000000000222,0.6500000000000000222,X'f6439a566e3ec4ea5d7afa4079f0773d');
INSERT INTO series VALUES(41,3,'examples_seen',9,0,3,3,48.0,16.0,48.0,X'4f26151b9ca27c44e41f750d5e9552bc');
INSERT INTO series VALUES(42,3,'epoch_index',9,1,3,3,0.0,0.0,0.0,X'678f0b4343703276ccb66b55e83ce628');
INSERT INTO series VALUES(43,3,'epoch',9,2,3,3,0.59999999999999997779,0.2000000000000000111,0.59999999999999997779,X'40ea2ec2348be418ebd34ed42c5e4c27');
INSERT INTO series VALUES(44,3,'train_coverage',9,3,3,3,0.59999999999999997779,0.2000000000000000111,0.59999999999999997779,X'37dd36f31f8633369ce456e5c569feda');
INSERT INTO series VALUES(45,3,'batch',9,4,3,3,16.0,16.0,16.0,X'10b81372892e2fa4bb817364fb051e51');
INSERT INTO series VALUES(46,3,'micro_batch',9,5,3,3,16.0,16.0,16.0,X'38110d2a9b99f19d93286d3c4dacaac5');
INSERT INTO series VALUES(47,3,'micro_batches',9,6,3,3,1.0,1.0,1.0,X'1f7428ab7f913ee8b44d48bd89ce00ca');
INSERT INTO series VALUES(48,3,'accumulate',9,7,3,3,1.0,1.0,1.0,X'eb00563788ff916940393621e3bad49a');
INSERT INTO series VALUES(49,3,'effective_batch',9,8,3,3,16.0,16.0,16.0,X'cc6573b69b9e6c1b675c13a068cdd1c2');
INSERT INTO series VALUES(50,3,'loss',9,9,3,3,0.56186336278915405273,0.56186336278915405273,0.65581178665161132812,X'e4cc6deeb6936ed54ff50df8de646556');
INSERT INTO series VALUES(51,3,'learning_rate',9,10,3,3,0.010000000000000000208,0.010000000000000000208,0.010000000000000000208,X'c3a9486f3dd2fca4689028791a06cf59');
INSERT INTO series VALUES(52,3,'grad_norm',9,11,3,3,0.82876259088516235351,0.82876259088516235351,0.88550806045532226562,X'b49e505e70a8cfa41fa73048f3317da4');
INSERT INTO series VALUES(53,3,'seconds',9,12,3,3,0.033306530000000000857,0.010786344999999999266,0.033306530000000000857,X'93fb75dfa68ebb7838c215c9cd5d9d2f');
INSERT INTO series VALUES(54,3,'allocated_bytes',9,13,3,3,4096.0,4096.0,4096.0,X'bb526b87fff6213a106b0b917bf429bb');
INSERT INTO series VALUES(55,3,'reserved_bytes',9,14,3,3,8960.0,8960.0,8960.0,X'9c374e06d03aa2af370e2e10bf9683b4');
INSERT INTO series VALUES(56,3,'peak_bytes',9,15,3,3,8768.0,8768.0,8768.0,X'553c5be5c51c5fb3fe053bf3e89d3c9b');
INSERT INTO series VALUES(57,3,'device_bytes',9,16,3,3,'NaN','NaN','NaN',X'72597e641efaece1d9601e7248db82bf');
INSERT INTO series VALUES(58,3,'evaluation_seconds',10,0,1,3,0.0098632040000000004154,0.0098632040000000004154,0.0098632040000000004154,X'5af0603ca4be772c12ce8fa44b43279b');
INSERT INTO series VALUES(59,3,'validation_loss',11,0,1,3,0.44910786151885984107,0.44910786151885984107,0.44910786151885984107,X'7d9545bdee1cea7eabab00e96c26021a');
INSERT INTO series VALUES(60,3,'validation_accuracy',12,0,1,3,1.0,1.0,1.0,X'0aa25d8c8729a42dc595ddd21b111a2b');
INSERT INTO series VALUES(61,4,'examples_seen',13,0,3,3,48.0,16.0,48.0,X'34cebd07484dda957cf0529f3c743faa');
INSERT INTO series VALUES(62,4,'epoch_index',13,1,3,3,0.0,0.0,0.0,X'1c67a35f53b0074954594cc78add8b3e');
INSERT INTO series VALUES(63,4,'epoch',13,2,3,3,0.59999999999999997779,0.2000000000000000111,0.59999999999999997779,X'3b0286de639df941733c69464ebf2131');
INSERT INTO series VALUES(64,4,'train_coverage',13,3,3,3,0.59999999999999997779,0.2000000000000000111,0.59999999999999997779,X'0072f29a739adf06484c1d02ebcfffb9');
INSERT INTO series VALUES(65,4,'batch',13,4,3,3,16.0,16.0,16.0,X'2717d71b6d4b0df06f293883d5a31f32');
INSERT INTO series VALUES(66,4,'micro_batch',13,5,3,3,16.0,16.0,16.0,X'0fbec943ebd97820478026db630aaba6');
INSERT INTO series VALUES(67,4,'micro_batches',13,6,3,3,1.0,1.0,1.0,X'28dbecc29014ddb160e5035aa76801a9');
INSERT INTO series VALUES(68,4,'accumulate',13,7,3,3,1.0,1.0,1.0,X'5fecf4f3bce558a217d21b6b4e5fb354');
INSERT INTO series VALUES(69,4,'effective_batch',13,8,3,3,16.0,16.0,16.0,X'7889d1726c9419c630b73eeac528b60c');
INSERT INTO series VALUES(70,4,'loss',13,9,3,3,0.70437830686569213867,0.65581178665161132812,0.70437830686569213867,X'5020cf2ad7234154181e20b273810298');
INSERT INTO series VALUES(71,4,'learning_rate',13,10,3,3,0.0010000000000000000208,0.0010000000000000000208,0.0010000000000000000208,X'7745eaab751f0bd53f7b0533b7e3a897');
INSERT INTO series VALUES(72,4,'grad_norm',13,11,3,3,0.91145300865173339843,0.88550806045532226562,0.93803697824478149414,X'be4eff4877836d20f67010d0e0e817b8');
INSERT INTO series VALUES(73,4,'seconds',13,12,3,3,0.010604784000000000779,0.0048475870000000004234,0.010604784000000000779,X'992bdac9f7ff037ed1153551de84f733');
INSERT INTO series VALUES(74,4,'allocated_bytes',13,13,3,3,4096.0,4096.0,4096.0,X'b182c49180ba6b90f9bc2b09682d43a7');
INSERT INTO series VALUES(75,4,'reserved_bytes',13,14,3,3,8960.0,8960.0,8960.0,X'96e7e110be1aa2efded90e88ac4fe9a8');
INSERT INTO series VALUES(76,4,'peak_bytes',13,15,3,3,8768.0,8768.0,8768.0,X'e1d0f921f1069678a9ee16b945785b55');
INSERT INTO series VALUES(77,4,'device_bytes',13,16,3,3,'NaN','NaN','NaN',X'c6b5dca05a3ba4a78e8b3338e53ee571');
INSERT INTO series VALUES(78,4,'evaluation_seconds',14,0,1,3,0.00083834399999999954788,0.00083834399999999954788,0.00083834399999999954788,X'ee1cc2f815b67c464525a2eee6a64055');
INSERT INTO series VALUES(79,4,'validation_loss',15,0,1,3,0.66447666883468625709,0.66447666883468625709,0.66447666883468625709,X'c979e77919169fa3fc402da3c1c365d4');
INSERT INTO series VALUES(80,4,'validation_accuracy',16,0,1,3,0.6500000000000000222,0.6500000000000000222,0.6500000000000000222,X'3d0d99e5db4417148f17c89a35b71b48');
INSERT INTO series VALUES(81,5,'examples_seen',17,0,3,3,500.0,200.0,500.0,X'846816a8a7c839cc367247d712d23ec9');
INSERT INTO series VALUES(82,5,'epoch_index',17,1,3,3,0.0,0.0,0.0,X'acc108f023f08ef41edb598fa47b8a5d');
INSERT INTO series VALUES(83,5,'epoch',17,2,3,3,1.0,0.4000000000000000222,1.0,X'8ba42d7187f8db1539be7c0e60192052');
INSERT INTO series VALUES(84,5,'train_coverage',17,3,3,3,1.0,0.4000000000000000222,1.0,X'fc933540512ab0874e89643f892e92af');
INSERT INTO series VALUES(85,5,'batch',17,4,3,3,333.0,200.0,333.0,X'dbf610c13a5d10a969ec41beb7427224');
INSERT INTO series VALUES(86,5,'micro_batch',17,5,3,3,34.0,34.0,34.0,X'f35f0e99fb194d1f41455fe601ebc6b0');
INSERT INTO series VALUES(87,5,'micro_batches',17,6,3,3,1.0,1.0,8.0,X'd43a2b1844fb7b6066207a67c5896cbf');
INSERT INTO series VALUES(88,5,'accumulate',17,7,3,3,1.0,1.0,1.0,X'1d313efba605b777af2b6f849282d390');
INSERT INTO series VALUES(89,5,'effective_batch',17,8,3,3,34.0,34.0,266.0,X'3a541b7ab0fcc764884e4a0519f5d6c8');
INSERT INTO series VALUES(90,5,'loss',17,9,3,3,1.3319364435532514701,1.3319364435532514701,1.3741530609130858664,X'12fd052219b5b167a0e7545daf5c625c');
INSERT INTO series VALUES(91,5,'learning_rate',17,10,3,3,0.0010000000000000000208,0.0010000000000000000208,0.0010000000000000000208,X'359820a3033571aa878271dc6b3ec853');
INSERT INTO series VALUES(92,5,'grad_norm',17,11,3,3,3.4082958698272705078,2.337530374526977539,3.4082958698272705078,X'42af3892e2eec783f0b569ed82097aae');
INSERT INTO series VALUES(93,5,'seconds',17,12,3,3,1.0199446210000000512,0.45084828999999998488,1.0199446210000000512,X'65ca1d1328d82d7fd7d04c6cbc659a25');
INSERT INTO series VALUES(94,5,'allocated_bytes',17,13,3,3,28544.0,28544.0,28544.0,X'4d63034bd4948a45ff7952340acc2eb1');
INSERT INTO series VALUES(95,5,'reserved_bytes',17,14,3,3,1480128.0,1480128.0,1480576.0,X'6a0626ca9caacd6ed81c77b5ceae84be');
INSERT INTO series VALUES(96,5,'peak_bytes',17,15,3,3,1395904.0,1395904.0,1401536.0,X'e48c8ea8220dfe885696dfd7de248610');
INSERT INTO series VALUES(97,5,'device_bytes',17,16,3,3,'NaN','NaN','NaN',X'c3e9ab296684639a71f3fa567e623834');
INSERT INTO series VALUES(98,5,'evaluation_seconds',18,0,1,3,0.044093676000000137094,0.044093676000000137094,0.044093676000000137094,X'eb40b5717a4e7a60ba5d6b807dfa9d10');
INSERT INTO series VALUES(99,5,'validation_loss',19,0,1,3,1.2666816406250001048,1.2666816406250001048,1.2666816406250001048,X'cc2590f0b4efb3e80338e4cd5a9fb891');
INSERT INTO series VALUES(100,5,'validation_accuracy',20,0,1,3,0.44000000000000000222,0.44000000000000000222,0.44000000000000000222,X'bb1288c1a4db834c6d0639f62da8a0a0');
CREATE TABLE step_chunk (
  id INTEGER PRIMARY KEY,
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  n INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  crc INTEGER NOT NULL, -- CRC-32 of data
  data BLOB NOT NULL,   -- n little-endian 64-bit integers; empty where each step is the one before plus 1
  UNIQUE (frame, first)
) STRICT;
INSERT INTO step_chunk VALUES(1,1,0,3,1,3,0,X'');
INSERT INTO step_chunk VALUES(2,2,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(3,3,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(4,4,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(5,5,0,3,1,3,0,X'');
INSERT INTO step_chunk VALUES(6,6,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(7,7,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(8,8,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(9,9,0,3,1,3,0,X'');
INSERT INTO step_chunk VALUES(10,10,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(11,11,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(12,12,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(13,13,0,3,1,3,0,X'');
INSERT INTO step_chunk VALUES(14,14,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(15,15,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(16,16,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(17,17,0,3,1,3,0,X'');
INSERT INTO step_chunk VALUES(18,18,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(19,19,0,1,3,3,0,X'');
INSERT INTO step_chunk VALUES(20,20,0,1,3,3,0,X'');
CREATE TABLE value_chunk (
  id INTEGER PRIMARY KEY,
  series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  n INTEGER NOT NULL,
  min ANY,
  max ANY,
  crc INTEGER NOT NULL, -- CRC-32 of data
  data BLOB NOT NULL,   -- n little-endian doubles
  UNIQUE (series, first)
) STRICT;
INSERT INTO value_chunk VALUES(1,1,0,3,8.0,24.0,1961061296,X'000000000000204000000000000030400000000000003840');
INSERT INTO value_chunk VALUES(2,2,0,3,0.0,0.0,2747386400,X'000000000000000000000000000000000000000000000000');
INSERT INTO value_chunk VALUES(3,3,0,3,0.10000000000000000555,0.29999999999999998889,2627213820,X'9a9999999999b93f9a9999999999c93f333333333333d33f');
INSERT INTO value_chunk VALUES(4,4,0,3,0.10000000000000000555,0.29999999999999998889,2627213820,X'9a9999999999b93f9a9999999999c93f333333333333d33f');
INSERT INTO value_chunk VALUES(5,5,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(6,6,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(7,7,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(8,8,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(9,9,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(10,10,0,3,0.57325500249862670898,0.62441068887710571289,1564539814,X'000000202cfbe33f00000040a497e33f000000e01a58e23f');
INSERT INTO value_chunk VALUES(11,11,0,3,0.010000000000000000208,0.010000000000000000208,3404288354,X'7b14ae47e17a843f7b14ae47e17a843f7b14ae47e17a843f');
INSERT INTO value_chunk VALUES(12,12,0,3,0.90454941987991333007,0.98227471113204956054,2222210834,X'000000a011f2ec3f000000e0a454ed3f00000060cb6eef3f');
INSERT INTO value_chunk VALUES(13,13,0,3,0.017214898999999998785,0.034264231999999998634,702786987,X'2ef5d550c8a0913f0e9e923e703f9b3f07a1b9d7148ba13f');
INSERT INTO value_chunk VALUES(14,14,0,3,4096.0,4096.0,3782527595,X'000000000000b040000000000000b040000000000000b040');
INSERT INTO value_chunk VALUES(15,15,0,3,7424.0,7424.0,1385164925,X'000000000000bd40000000000000bd40000000000000bd40');
INSERT INTO value_chunk VALUES(16,16,0,3,6656.0,6656.0,507279271,X'000000000000ba40000000000000ba40000000000000ba40');
INSERT INTO value_chunk VALUES(17,17,0,3,'NaN','NaN',1106979890,X'000000000000f87f000000000000f87f000000000000f87f');
INSERT INTO value_chunk VALUES(18,18,0,1,0.0078813019999999997522,0.0078813019999999997522,4039685015,X'2c1db8721224803f');
INSERT INTO value_chunk VALUES(19,19,0,1,0.46341158747673033557,0.46341158747673033557,2542784367,X'3333331389a8dd3f');
INSERT INTO value_chunk VALUES(20,20,0,1,1.0,1.0,3354924009,X'000000000000f03f');
INSERT INTO value_chunk VALUES(21,21,0,3,8.0,24.0,1961061296,X'000000000000204000000000000030400000000000003840');
INSERT INTO value_chunk VALUES(22,22,0,3,0.0,0.0,2747386400,X'000000000000000000000000000000000000000000000000');
INSERT INTO value_chunk VALUES(23,23,0,3,0.10000000000000000555,0.29999999999999998889,2627213820,X'9a9999999999b93f9a9999999999c93f333333333333d33f');
INSERT INTO value_chunk VALUES(24,24,0,3,0.10000000000000000555,0.29999999999999998889,2627213820,X'9a9999999999b93f9a9999999999c93f333333333333d33f');
INSERT INTO value_chunk VALUES(25,25,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(26,26,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(27,27,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(28,28,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(29,29,0,3,8.0,8.0,3512103425,X'000000000000204000000000000020400000000000002040');
INSERT INTO value_chunk VALUES(30,30,0,3,0.62441068887710571289,0.71103006601333618164,1289566129,X'000000202cfbe33f00000040babde53f00000020c2c0e63f');
INSERT INTO value_chunk VALUES(31,31,0,3,0.0010000000000000000208,0.0010000000000000000208,1942299203,X'fca9f1d24d62503ffca9f1d24d62503ffca9f1d24d62503f');
INSERT INTO value_chunk VALUES(32,32,0,3,0.90454941987991333007,1.1614868640899658203,918411791,X'000000a011f2ec3f00000040100ff03f000000407395f23f');
INSERT INTO value_chunk VALUES(33,33,0,3,0.0068163599999999996068,0.035155205000000001869,1497604411,X'27b771b478eb7b3f3a0bd6935401983fadb284efdcffa13f');
INSERT INTO value_chunk VALUES(34,34,0,3,4096.0,4096.0,3782527595,X'000000000000b040000000000000b040000000000000b040');
INSERT INTO value_chunk VALUES(35,35,0,3,7424.0,7424.0,1385164925,X'000000000000bd40000000000000bd40000000000000bd40');
INSERT INTO value_chunk VALUES(36,36,0,3,6656.0,6656.0,507279271,X'000000000000ba40000000000000ba40000000000000ba40');
INSERT INTO value_chunk VALUES(37,37,0,3,'NaN','NaN',1106979890,X'000000000000f87f000000000000f87f000000000000f87f');
INSERT INTO value_chunk VALUES(38,38,0,1,0.0051801009999999994559,0.0051801009999999994559,361186502,X'88dd28c6ba37753f');
INSERT INTO value_chunk VALUES(39,39,0,1,0.66650217771530151367,0.66650217771530151367,3409296198,X'00000060fc53e53f');
INSERT INTO value_chunk VALUES(40,40,0,1,0.6500000000000000222,0.6500000000000000222,3987310122,X'cdcccccccccce43f');
INSERT INTO value_chunk VALUES(41,41,0,3,16.0,48.0,2201406406,X'000000000000304000000000000040400000000000004840');
INSERT INTO value_chunk VALUES(42,42,0,3,0.0,0.0,2747386400,X'000000000000000000000000000000000000000000000000');
INSERT INTO value_chunk VALUES(43,43,0,3,0.2000000000000000111,0.59999999999999997779,2904046255,X'9a9999999999c93f9a9999999999d93f333333333333e33f');
INSERT INTO value_chunk VALUES(44,44,0,3,0.2000000000000000111,0.59999999999999997779,2904046255,X'9a9999999999c93f9a9999999999d93f333333333333e33f');
INSERT INTO value_chunk VALUES(45,45,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(46,46,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(47,47,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(48,48,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(49,49,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(50,50,0,3,0.56186336278915405273,0.65581178665161132812,1369387613,X'0000000069fce43f00000080e59be23f000000e0c8fae13f');
INSERT INTO value_chunk VALUES(51,51,0,3,0.010000000000000000208,0.010000000000000000208,3404288354,X'7b14ae47e17a843f7b14ae47e17a843f7b14ae47e17a843f');
INSERT INTO value_chunk VALUES(52,52,0,3,0.82876259088516235351,0.88550806045532226562,2429329740,X'000000001556ec3f0000004094ddeb3f000000203985ea3f');
INSERT INTO value_chunk VALUES(53,53,0,3,0.010786344999999999266,0.033306530000000000857,1053774482,X'cea025b82617863fc303c3ec77be933f88bd2fb28d0da13f');
INSERT INTO value_chunk VALUES(54,54,0,3,4096.0,4096.0,3782527595,X'000000000000b040000000000000b040000000000000b040');
INSERT INTO value_chunk VALUES(55,55,0,3,8960.0,8960.0,3827611804,X'000000000080c140000000000080c140000000000080c140');
INSERT INTO value_chunk VALUES(56,56,0,3,8768.0,8768.0,1890906608,X'000000000020c140000000000020c140000000000020c140');
INSERT INTO value_chunk VALUES(57,57,0,3,'NaN','NaN',1106979890,X'000000000000f87f000000000000f87f000000000000f87f');
INSERT INTO value_chunk VALUES(58,58,0,1,0.0098632040000000004154,0.0098632040000000004154,1337152777,X'9803e9d42833843f');
INSERT INTO value_chunk VALUES(59,59,0,1,0.44910786151885984107,0.44910786151885984107,4131356043,X'666666e62ebedc3f');
INSERT INTO value_chunk VALUES(60,60,0,1,1.0,1.0,3354924009,X'000000000000f03f');
INSERT INTO value_chunk VALUES(61,61,0,3,16.0,48.0,2201406406,X'000000000000304000000000000040400000000000004840');
INSERT INTO value_chunk VALUES(62,62,0,3,0.0,0.0,2747386400,X'000000000000000000000000000000000000000000000000');
INSERT INTO value_chunk VALUES(63,63,0,3,0.2000000000000000111,0.59999999999999997779,2904046255,X'9a9999999999c93f9a9999999999d93f333333333333e33f');
INSERT INTO value_chunk VALUES(64,64,0,3,0.2000000000000000111,0.59999999999999997779,2904046255,X'9a9999999999c93f9a9999999999d93f333333333333e33f');
INSERT INTO value_chunk VALUES(65,65,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(66,66,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(67,67,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(68,68,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(69,69,0,3,16.0,16.0,2459549088,X'000000000000304000000000000030400000000000003040');
INSERT INTO value_chunk VALUES(70,70,0,3,0.65581178665161132812,0.70437830686569213867,1688469937,X'0000000069fce43f000000602e27e53f00000060448ae63f');
INSERT INTO value_chunk VALUES(71,71,0,3,0.0010000000000000000208,0.0010000000000000000208,1942299203,X'fca9f1d24d62503ffca9f1d24d62503ffca9f1d24d62503f');
INSERT INTO value_chunk VALUES(72,72,0,3,0.88550806045532226562,0.93803697824478149414,569393974,X'000000001556ec3f000000206604ee3f000000809f2aed3f');
INSERT INTO value_chunk VALUES(73,73,0,3,0.0048475870000000004234,0.010604784000000000779,2987253350,X'107e123a10db733f8d6576ed3d227f3f4d6cb003f6b7853f');
INSERT INTO value_chunk VALUES(74,74,0,3,4096.0,4096.0,3782527595,X'000000000000b040000000000000b040000000000000b040');
INSERT INTO value_chunk VALUES(75,75,0,3,8960.0,8960.0,3827611804,X'000000000080c140000000000080c140000000000080c140');
INSERT INTO value_chunk VALUES(76,76,0,3,8768.0,8768.0,1890906608,X'000000000020c140000000000020c140000000000020c140');
INSERT INTO value_chunk VALUES(77,77,0,3,'NaN','NaN',1106979890,X'000000000000f87f000000000000f87f000000000000f87f');
INSERT INTO value_chunk VALUES(78,78,0,1,0.00083834399999999954788,0.00083834399999999954788,18115648,X'50c209088a784b3f');
INSERT INTO value_chunk VALUES(79,79,0,1,0.66447666883468625709,0.66447666883468625709,2958321058,X'333333936443e53f');
INSERT INTO value_chunk VALUES(80,80,0,1,0.6500000000000000222,0.6500000000000000222,3987310122,X'cdcccccccccce43f');
INSERT INTO value_chunk VALUES(81,81,0,3,200.0,500.0,337073400,X'00000000000069400000000000207d400000000000407f40');
INSERT INTO value_chunk VALUES(82,82,0,3,0.0,0.0,2747386400,X'000000000000000000000000000000000000000000000000');
INSERT INTO value_chunk VALUES(83,83,0,3,0.4000000000000000222,1.0,2515080018,X'9a9999999999d93f6de7fba9f1d2ed3f000000000000f03f');
INSERT INTO value_chunk VALUES(84,84,0,3,0.4000000000000000222,1.0,2515080018,X'9a9999999999d93f6de7fba9f1d2ed3f000000000000f03f');
INSERT INTO value_chunk VALUES(85,85,0,3,200.0,333.0,2297400300,X'00000000000069400000000000a070400000000000d07440');
INSERT INTO value_chunk VALUES(86,86,0,3,34.0,34.0,2601269528,X'000000000000414000000000000041400000000000004140');
INSERT INTO value_chunk VALUES(87,87,0,3,1.0,8.0,4099969431,X'00000000000018400000000000002040000000000000f03f');
INSERT INTO value_chunk VALUES(88,88,0,3,1.0,1.0,2024566689,X'000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO value_chunk VALUES(89,89,0,3,34.0,266.0,2807528554,X'00000000000069400000000000a070400000000000004140');
INSERT INTO value_chunk VALUES(90,90,0,3,1.3319364435532514701,1.3741530609130858664,1311395912,X'b81e85eb87fcf53f5c9071413aebf53f979696969c4ff53f');
INSERT INTO value_chunk VALUES(91,91,0,3,0.0010000000000000000208,0.0010000000000000000208,1942299203,X'fca9f1d24d62503ffca9f1d24d62503ffca9f1d24d62503f');
INSERT INTO value_chunk VALUES(92,92,0,3,2.337530374526977539,3.4082958698272705078,1129923574,X'00000020b22d03400000002043b30240000000a030440b40');
INSERT INTO value_chunk VALUES(93,93,0,3,0.45084828999999998488,1.0199446210000000512,2651657043,X'457b40c9b2dadc3f1bedc50b7a33ef3f5ed16e73b151f03f');
INSERT INTO value_chunk VALUES(94,94,0,3,28544.0,28544.0,724307413,X'0000000000e0db400000000000e0db400000000000e0db40');
INSERT INTO value_chunk VALUES(95,95,0,3,1480128.0,1480576.0,4268248649,X'0000000000973641000000008097364100000000c0953641');
INSERT INTO value_chunk VALUES(96,96,0,3,1395904.0,1401536.0,2012634432,X'000000004062354100000000c062354100000000c04c3541');
INSERT INTO value_chunk VALUES(97,97,0,3,'NaN','NaN',1106979890,X'000000000000f87f000000000000f87f000000000000f87f');
INSERT INTO value_chunk VALUES(98,98,0,1,0.044093676000000137094,0.044093676000000137094,3982446360,X'80c6c2407293a63f');
INSERT INTO value_chunk VALUES(99,99,0,1,1.2666816406250001048,1.2666816406250001048,2490162832,X'17d9cef75344f43f');
INSERT INTO value_chunk VALUES(100,100,0,1,0.44000000000000000222,0.44000000000000000222,122711682,X'295c8fc2f528dc3f');
CREATE TABLE tail (
  frame INTEGER NOT NULL REFERENCES frame (id) ON DELETE CASCADE,
  number INTEGER NOT NULL, -- of the point in the frame; the first is 0
  crc INTEGER NOT NULL,    -- CRC-32 of data
  data BLOB NOT NULL,      -- the step as a little-endian 64-bit integer, then a little-endian double for each series
  PRIMARY KEY (frame, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE command (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  created TEXT NOT NULL,
  verb TEXT NOT NULL,
  detail TEXT NOT NULL, -- JSON
  taken INTEGER         -- NULL until the process that trains the run took it, 1 then
, checks BLOB) STRICT;
CREATE TABLE identity (
  uid TEXT NOT NULL -- 32 hexadecimal digits, the same in copies of the file
, checks BLOB) STRICT;
INSERT INTO identity VALUES('ac74f6bf09cc708b16ae7921d2a784df',X'093d0659');
CREATE TABLE run_changes (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  changes INTEGER NOT NULL,
  removed INTEGER NOT NULL
) STRICT;
INSERT INTO run_changes VALUES(1,20,0);
CREATE TABLE view (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,
  content TEXT NOT NULL, -- JSON
  checks BLOB
) STRICT;
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('value_chunk','sqlite_autoindex_value_chunk_1','80 1 1');
INSERT INTO sqlite_stat1 VALUES('run','run_changed','4 1');
INSERT INTO sqlite_stat1 VALUES('run','run_process','4 4');
INSERT INTO sqlite_stat1 VALUES('run','run_sweep','4 4');
INSERT INTO sqlite_stat1 VALUES('run','sqlite_autoindex_run_1','4 1');
INSERT INTO sqlite_stat1 VALUES('event','event_run','4 1');
INSERT INTO sqlite_stat1 VALUES('frame','frame_run','16 4');
INSERT INTO sqlite_stat1 VALUES('series','sqlite_autoindex_series_2','80 5 1');
INSERT INTO sqlite_stat1 VALUES('series','sqlite_autoindex_series_1','80 20 1');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('sweep',1);
INSERT INTO sqlite_sequence VALUES('run',5);
INSERT INTO sqlite_sequence VALUES('search',1);
CREATE INDEX run_sweep ON run (sweep);
CREATE INDEX run_process ON run (process);
CREATE INDEX event_run ON event (run);
CREATE INDEX frame_run ON frame (run);
CREATE INDEX command_run ON command (run, taken);
CREATE INDEX run_changed ON run (changed);
CREATE TRIGGER run_inserted AFTER INSERT ON run BEGIN
  UPDATE run_changes SET changes = changes + 1;
  UPDATE run SET changed = (SELECT changes FROM run_changes) WHERE id = NEW.id;
END;
CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
  UPDATE run_changes SET removed = removed + 1;
END;
CREATE TRIGGER run_updated AFTER UPDATE ON run WHEN NEW.changed = OLD.changed AND NEW.checks IS OLD.checks BEGIN
  UPDATE run_changes SET changes = changes + 1;
  UPDATE run SET changed = (SELECT changes FROM run_changes) WHERE id = NEW.id;
END;
COMMIT;
