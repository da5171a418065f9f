"""Trains a vision-language model with TRL's GRPO and seqcap's CIDEr: `python examples/trl_grpo.py OUT`.

The model is a LLaVA with few and random weights and the pictures are of one colour, so that this takes a minute on a
processor and downloads nothing. For a real model, replace `tiny_llava` by
`LlavaForConditionalGeneration.from_pretrained(folder)` and `AutoProcessor.from_pretrained(folder)`; the rest stays.
It needs the extras `hf` and `trl`: `pip install '.[hf,trl]'`, in a checkout.
"""

import sys
from pathlib import Path

import seqcap
import seqcap.features.torchvision_shim  # first: beside a CPU build of torch, transformers needs it

# isort: split
import torch
from datasets import Dataset
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from trl import GRPOConfig, GRPOTrainer

REFERENCES = {
    "red": ["a red picture", "all of it is red"],
    "green": ["a green picture", "all of it is green"],
    "blue": ["a blue picture", "all of it is blue"],
}
SIDE, PATCH = 16, 8
# Jinja: the picture's place, then the text.
TEMPLATE = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }} {% endif %}"
    "{% endfor %}{% endfor %}"
)


def tiny_llava() -> tuple[LlavaForConditionalGeneration, LlavaProcessor]:
    known = sorted({word for texts in REFERENCES.values() for text in texts for word in text.split()})
    vocabulary = {word: place for place, word in enumerate(["<pad>", "</s>", "<unk>", "<image>", "describe", *known])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
        padding_side="left",
    )
    size = {"height": SIDE, "width": SIDE}
    processor = LlavaProcessor(
        CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=size),
        fast,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=1,
    )
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    words = {"vocab_size": len(vocabulary), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    settings = LlavaConfig(
        vision_config=CLIPVisionConfig(**sizes, image_size=SIDE, patch_size=PATCH),
        text_config=LlamaConfig(**sizes, **words),
        image_token_index=vocabulary["<image>"],
        image_seq_length=(SIDE // PATCH) ** 2,
    )
    return LlavaForConditionalGeneration(settings), processor


def train(folder: Path, steps: int = 30) -> GRPOTrainer:
    model, processor = tiny_llava()
    prompt = [{"role": "user", "content": "describe"}]
    rows = [
        {"prompt": prompt, "image": Image.new("RGB", (SIDE, SIDE), colour), "image_id": colour} for colour in REFERENCES
    ]
    # Columns of the dataset reach the reward: `image_id` names each completion's references.
    reward = seqcap.CaptionReward("cider", REFERENCES, eos=processor.tokenizer.eos_token_id)
    settings = GRPOConfig(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=24,
        num_generations=8,
        max_completion_length=8,
        learning_rate=1e-2,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=not torch.cuda.is_available(),
        seed=0,
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward,
        args=settings,
        train_dataset=Dataset.from_list(rows),
        processing_class=processor,
    )
    trainer.train()
    return trainer


if __name__ == "__main__":
    trained = train(Path(sys.argv[1]))
    for entry in trained.state.log_history:
        if "reward" in entry:
            print(f"step {entry['step']}: reward {entry['reward']:.3f}")
