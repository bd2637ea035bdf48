"""Programs with an evaluation, for find --evaluation. Arguments: trainer or lightning; evaluation batch; epochs."""

import sys
import tempfile

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

EXAMPLES, WIDTH = 6000, 256


class Noise(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return {"x": torch.full((WIDTH,), index % 7 / 7.0), "labels": torch.tensor(index % 3)}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(torch.nn.Linear(WIDTH, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 3))

    def forward(self, x, labels):
        scores = self.layers(x)
        return {"loss": cross_entropy(scores, labels), "logits": scores}


def with_transformers(batch, epochs):
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        Trainer(Net(), TrainingArguments(
            folder, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True, num_train_epochs=epochs,
            eval_strategy="epoch", per_device_train_batch_size=8, per_device_eval_batch_size=batch),
            train_dataset=Noise(64), eval_dataset=Noise(EXAMPLES),
            compute_metrics=lambda prediction: {"mean": float(prediction.predictions.mean())}).train()


def with_lightning(batch, epochs):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, batch_idx):
            return self.net(**batch)["loss"]

        def validation_step(self, batch, batch_idx):
            self.log("val_loss", self.net(**batch)["loss"])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    lightning.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                      enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0).fit(
        Module(), DataLoader(Noise(64), 8, shuffle=True), DataLoader(Noise(EXAMPLES), batch))


if __name__ == "__main__":
    {"trainer": with_transformers, "lightning": with_lightning}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
